import { createSocket } from "node:dgram";

/** The addresses of a name: IPv4 and IPv6. A name may be an alias of another one. */
export type NameRecord = { four?: string[]; six?: string[]; alias?: string };
/** Gets a name, and how often its IPv4 addresses were asked for before; null: there is no such name. */
type NameAnswer = (name: string, before: number) => NameRecord | null | "silence";

const [A, CNAME, TXT, AAAA] = [1, 5, 16, 28];
const QUESTION = Buffer.from([0xc0, 12]);
/** The resolver of Node 20.19.2 stores an answer without any record for an hour. */
const ADDITIONAL = encodeRecord(QUESTION, TXT, Buffer.from([0]));

/** Starts a name server on loopback. Its answers may not be stored, as those of an attacker. */
export async function startNameServer(answer: NameAnswer) {
  const socket = createSocket("udp4");
  const asked = new Map<string, number>();
  socket.on("message", (message, { port, address }) => {
    const { name, type, end } = readQuestion(message);
    const before = asked.get(name) ?? 0;
    if (type === A) asked.set(name, before + 1);
    const record = answer(name, type === A ? before : Math.max(0, before - 1));
    if (record === "silence") return;
    const { four = [], six = [], alias } = record ?? {};
    const owner = alias === undefined ? QUESTION : encodeName(alias);
    const answers = [
      ...(alias === undefined ? [] : [encodeRecord(QUESTION, CNAME, encodeName(alias))]),
      ...(type === A ? four.map((each) => encodeRecord(owner, A, bytesOfFour(each))) : []),
      ...(type === AAAA ? six.map((each) => encodeRecord(owner, AAAA, bytesOfSix(each))) : []),
    ];
    const header = Buffer.alloc(12);
    header.writeUInt16BE(message.readUInt16BE(0), 0);
    header.writeUInt16BE(record === null ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    header.writeUInt16BE(1, 10);
    const parts = [header, message.subarray(12, end), ...answers, ADDITIONAL];
    socket.send(Buffer.concat(parts), port, address);
  });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise<void>((closed) => socket.close(closed)),
  };
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join("."), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function encodeRecord(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(0, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label, "latin1")]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

const bytesOfFour = (address: string) => Buffer.from(address.split(".").map(Number));

function bytesOfSix(address: string): Buffer {
  const groups = address.split(":").map((group) => Number.parseInt(group, 16));
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}
