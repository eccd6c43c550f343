// What the user of `useChat` sees: each stream answers one turn of one chat.
//   node chat-vercel.mjs FILE ai-5|ai-6|ai-7
// A stream may name `output`: {toolCallId: value}, added by the browser before the next stream is read.
import { answer, streams } from './streams.mjs';

const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } = await import(process.argv[3]);

class State {
  status = 'ready';
  messages = [];
  error;
  snapshot = structuredClone;
  pushMessage(message) {
    this.messages.push(structuredClone(message));
  }
  popMessage() {
    this.messages.pop();
  }
  replaceMessage(place, message) {
    this.messages[place] = structuredClone(message);
  }
}
class Chat extends AbstractChat {
  constructor(options) {
    super({ ...options, state: new State() });
  }
}

const requests = [];
let finish;
const fetch = async (url, init) => {
  requests.push(JSON.parse(init.body));
  const body = streams[requests.length - 1].body;
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};
const chat = new Chat({
  id: 'chat-1',
  transport: new DefaultChatTransport({ api: 'http://x/api/chat', fetch }),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  onFinish: event => {
    finish = event;
  },
});
const seen = [];
while (requests.length < streams.length) {
  const turn = requests.length;
  await chat.sendMessage({ text: `turn ${turn + 1}` });
  for (let at = turn; at < requests.length; at = requests.length) {
    const { isError, finishReason } = finish ?? {};
    seen.push({ status: chat.status, error: chat.error?.message, isError, finishReason });
    for (const [toolCallId, output] of Object.entries(streams[requests.length - 1].output ?? {})) {
      const part = chat.messages.at(-1).parts.find(each => each.toolCallId === toolCallId);
      const before = requests.length;
      const add = chat.addToolOutput ?? chat.addToolResult;
      await add.call(chat, { tool: part.type.replace('tool-', ''), toolCallId, output });
      for (let turns = 0; turns < 200 && (requests.length === before || chat.status !== 'ready'); turns++)
        await new Promise(resolve => setImmediate(resolve));
    }
  }
}
answer({ seen, status: chat.status, messages: chat.messages, requests });
