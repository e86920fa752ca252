import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { finished } from "node:stream/promises";

/** A request to be altered: the suffix of its target, and its headers. */
export type Shape = { name: string; suffix?: string; headers?: readonly string[] };

const HEADERS = [
  "Accept",
  "Accept-Encoding",
  "Accept-Language",
  "Authorization",
  "Content-Type",
  "Cookie",
  "Forwarded",
  "If-Modified-Since",
  "If-None-Match",
  "Next-Action",
  "Next-Router-Prefetch",
  "Next-Router-Segment-Prefetch",
  "Next-Router-State-Tree",
  "Next-Url",
  "Origin",
  "RSC",
  "Range",
  "Referer",
  "User-Agent",
  "X-API-Key",
  "X-Forwarded-For",
  "X-Forwarded-Host",
  "X-Forwarded-Proto",
  "baggage",
  "traceparent",
  "x-middleware-subrequest",
];

function texts(size: number): Record<string, string> {
  const fill = (part: string) => part.repeat(Math.floor(size / part.length));
  return {
    "one word": fill("a"),
    commas: fill(","),
    "equal parts": fill("a,"),
    "distinct parts": fillWith(size, (n) => `a${n},`),
    "weighted parts": fillWith(size, (n) => `a${n};q=0.${n % 10},`),
    parameters: `text/html${fillWith(size - 9, (n) => `;a${n}=1`)}`,
    pairs: fillWith(size, (n) => `a${n}=1; `),
    ranges: `bytes=${fillWith(size - 6, (n) => `${n}-${n},`)}`,
    tags: fillWith(size, (n) => `W/"${n}", `),
    addresses: fillWith(size, (n) => `10.0.0.${n % 256}, `),
    spaces: `a${fill(" ").slice(2)}b`,
    quotes: fill('"'),
    backslashes: fill('\\"'),
    escapes: fill("%25"),
    "malformed escapes": fill("%E0%A4"),
    brackets: fill("["),
    objects: fill('{"a":'),
    "a deep tree": encodeURIComponent(nest(size, '["",{"c":', "}]")).slice(0, size),
    slashes: fill("/"),
    "user names": `https://${fill("a@").slice(8)}`,
  };
}

const QUERIES: Record<string, (n: number) => string> = {
  "one name": () => "a&",
  "distinct names": (n) => `a${n}=1&`,
  "empty names": () => "&",
  "a declared name": () => "status=Failed&",
  _rsc: () => "_rsc=a&",
  "Next's own names": (n) => `nxtP${n}=1&`,
  lists: () => "a[]=1&",
  deep: () => "[a]",
  escapes: () => "%25",
  "malformed escapes": () => "%E0%A4",
  plus: () => "+",
  "question marks": () => "?",
  "names behind a fragment": () => "#a&",
};

const PATHS: Record<string, (n: number) => string> = {
  segments: () => "/a",
  slashes: () => "/",
  "dot segments": () => "/..",
  "escaped dot segments": () => "/%2e%2e",
  escapes: () => "/%25",
  "malformed escapes": () => "/%E0%A4",
  procedures: (n) => `,a${n}`,
  parameters: () => ";a",
  "route syntax": () => "/[a]",
  "one segment": () => "a",
};

/** Every shape, with about `size` characters each. */
export function requestShapes(size: number): Shape[] {
  const values = Object.entries(texts(size));
  const ofHeaders = HEADERS.flatMap((header) => [
    ...values.map(([name, text]) => ({ name: `${header}: ${name}`, headers: [`${header}: ${text}`] })),
    { name: `${header}: many`, headers: many(size, (n) => `${header}: a${n}=1`) },
  ]);
  return [
    ...ofHeaders,
    { name: "many headers", headers: many(size, (n) => `a${n}: 1`) },
    ...["stepwell.", "__Secure-stepwell."].map((prefix) => ({
      name: `cookies of ${prefix}`,
      headers: [`Cookie: ${fillWith(size, (n) => `${prefix}${n}=1; `)}`],
    })),
    { name: "a repeated cookie", headers: [`Cookie: ${fillWith(size, () => "stepwell.session_token=a; ")}`] },
    {
      name: "a tree of RSC",
      headers: ["RSC: 1", `Next-Router-State-Tree: ${encodeURIComponent(nest(size / 3, '["",{"c":', "}]"))}`],
    },
    { name: "a batch of tRPC", suffix: `?batch=1&input=${fillWith(size, () => "%7B%220%22:")}` },
    ...Object.entries(QUERIES).map(([name, part]) => ({
      name: `query: ${name}`,
      suffix: `?${fillWith(size, part)}`,
    })),
    ...Object.entries(PATHS).map(([name, part]) => ({ name: `path: ${name}`, suffix: fillWith(size, part) })),
  ];
}

function fillWith(size: number, part: (n: number) => string): string {
  let text = "";
  for (let n = 0; ; n += 1) {
    const next = part(n);
    if (text.length + next.length > size) return text;
    text += next;
  }
}

function many(size: number, line: (n: number) => string): string[] {
  const lines = fillWith(size, (n) => `${line(n)}\r\n`);
  return lines.split("\r\n").slice(0, -1);
}

function nest(size: number, open: string, close: string): string {
  const depth = Math.floor(size / (open.length + close.length));
  return `${open.repeat(depth)}[]${close.repeat(depth)}`;
}

type Watcher = {
  longestWait(request: string): Promise<number>;
  close(): void;
};

export async function watchService(port: number): Promise<Watcher> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async () => {
    const askedAt = performance.now();
    await new Promise<void>((resolve, reject) => {
      const asked = get({ host: "127.0.0.1", port, path: "/api/health", agent }, (answer) => {
        finished(answer.resume()).then(resolve, reject);
      });
      asked.once("error", reject);
    });
    return performance.now() - askedAt;
  };
  await ask();
  return {
    async longestWait(request) {
      const socket = await open(port);
      let answered = false;
      for (const event of ["data", "close"]) {
        socket.once(event, () => {
          answered = true;
        });
      }
      socket.write(request);
      let longest = 0;
      do longest = Math.max(longest, await ask());
      while (!answered);
      socket.destroy();
      return longest;
    },
    close: () => agent.destroy(),
  };
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  return socket;
}

export function requestText(
  method: string,
  path: string,
  { suffix = "", headers = [] }: Omit<Shape, "name">,
): string {
  const lines = [`${method} ${path}${suffix} HTTP/1.1`, "Host: localhost", "Connection: close", ...headers];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Texts of about `size` characters, most of which arrive in one packet: many requests, or one with tiny chunks. */
export function requestPackets(method: string, path: string, size: number): { name: string; text: string }[] {
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n`;
  const requests = `${head}${method === "GET" ? "" : "Content-Length: 0\r\n"}\r\n`;
  const chunks = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  return [
    { name: "many requests", text: fillWith(size, () => requests) },
    { name: "tiny chunks", text: `${chunks}${fillWith(size, () => "1\r\n[\r\n")}0\r\n\r\n` },
  ];
}
