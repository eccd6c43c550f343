// What the readers share: streams in, one JSON document of outcomes out.
//   node <reader>.mjs FILE      FILE holds [{name, body}], the body as it would come over HTTP
import { readFileSync, writeSync } from 'node:fs';

export const streams = JSON.parse(readFileSync(process.argv[2], 'utf8'));

export function answer(outcomes) {
  const text = Buffer.from(JSON.stringify(outcomes));
  for (let sent = 0; sent < text.length; ) {
    try {
      sent += writeSync(1, text, sent);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
  process.exit(0);
}

export const bodyOf = stream => new Blob([stream.body]).stream();
