// Reads UI message streams with the `ai` package: schema, order, and the message that comes of them.
//   node read-vercel.mjs FILE ai-5|ai-6|ai-7
import { answer, bodyOf, streams } from './streams.mjs';

const ai = await import(process.argv[3]);

async function read(stream) {
  let error, message;
  const errors = [];
  const chunks = ai
    .parseJsonEventStream({ stream: bodyOf(stream), schema: ai.uiMessageChunkSchema })
    .pipeThrough(
      new TransformStream({
        transform(result, controller) {
          if (!result.success) throw result.error;
          controller.enqueue(result.value);
        },
      }),
    );
  try {
    for await (const each of ai.readUIMessageStream({ stream: chunks, onError: e => errors.push(e.message) })) message = each;
  } catch (e) {
    error = e.message;
  }
  const parts = message?.parts ?? [];
  const open = parts.filter(part => part.state === 'streaming' || part.state === 'input-streaming').length;
  const valid = message ? (await ai.safeValidateUIMessages({ messages: [message] })).success : null;
  return { name: stream.name, error, errors, open, valid, message };
}

const outcomes = [];
for (const stream of streams) outcomes.push(await read(stream));
answer(outcomes);
