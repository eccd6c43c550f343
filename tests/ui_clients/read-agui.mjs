// Reads AG-UI streams with the real client: framing, schema, order, and the messages that come of them.
//   node read-agui.mjs FILE @ag-ui/client|ag-ui-client-0
import { answer, streams } from './streams.mjs';

const { HttpAgent } = await import(process.argv[3]);
console.error = () => {};
console.log = () => {};

async function read(stream) {
  const seen = [];
  const warned = [];
  let failed;
  console.warn = (...words) => warned.push(words.join(' '));
  const headers = { 'content-type': 'text/event-stream' };
  const fetch = async () => new Response(stream.body, { headers });
  const agent = new HttpAgent({ url: 'http://x/run', threadId: 't1', fetch });
  try {
    await agent.runAgent({ runId: 'r1' }, { onEvent: ({ event }) => void seen.push(event) });
  } catch (error) {
    failed = error.message;
  }
  const last = seen.at(-1);
  if (!['RUN_FINISHED', 'RUN_ERROR'].includes(last?.type)) failed ??= 'no terminal event';
  return { name: stream.name, failed, warned, events: seen.length, last, messages: agent.messages };
}

const outcomes = [];
for (const stream of streams) outcomes.push(await read(stream));
answer(outcomes);
