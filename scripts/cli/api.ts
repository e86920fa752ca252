import { follow } from "@/client/src/follow";
import { OPERATIONS } from "@/client/src/operations";
import { type Settings, send } from "@/client/src/transport";
import { isUuid, newId } from "@/server/base/ids";
import { YAML_TYPE } from "@/server/contract/media-types";
import {
  type Caller,
  declareRemoteCommand,
  flag,
  option,
  type Terminal,
  UsageError,
  withoutLastBreak,
} from "./command";
import { readSource } from "./read-source";

/** Commands for a service anywhere, by its API. Standard output has the service's answer, unchanged. */

const SERVICE = {
  url: option("URL", "the service's address; default STEPWELL_URL"),
  key: option("KEY", "an API key; default STEPWELL_KEY, which other users of this machine cannot read"),
};

export const apiCommands = [
  declareRemoteCommand({
    name: "api operations",
    summary: "List the operations of the API",
    options: {},
    async run() {
      const lines = Object.entries(OPERATIONS).map(
        ([id, { method, path }]) => `${id.padEnd(24)}  ${method.padEnd(6)}  ${path}`,
      );
      return lines.join("\n");
    },
  }),
  declareRemoteCommand({
    name: "api call",
    parameters: ["OPERATION", "[NAME=VALUE …]"],
    summary: "Call an operation with parameters of its path and query",
    options: {
      body: option("JSON", "the body; @FILE reads it from a file, @- from standard input"),
      header: { ...option("'NAME: VALUE'", "such as 'X-Max-Credits: 1'; may be repeated"), multiple: true },
      ...SERVICE,
    },
    async run({ terminal }, [id, ...given], { body, header = [], ...service }) {
      const operation = new Map(Object.entries(OPERATIONS)).get(id);
      if (operation === undefined) throw new UsageError(`There is no operation "${id}". See api operations.`);
      const { method, path, repeat } = operation;
      const values = new Map(given.filter((each) => each !== undefined).map(readPair));
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => takeFrom(values, name));
      const query = new URLSearchParams([...values]).toString();
      return callService(terminal, readService(service, terminal.caller), {
        method,
        path: query === "" ? filled : `${filled}?${query}`,
        headers: {
          ...(repeat === "with-key" && { "Idempotency-Key": newId() }),
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...Object.fromEntries(header.map(readHeader)),
        },
        ...(body !== undefined && {
          body: body.startsWith("@") ? await readSource(body.slice(1), terminal) : body,
        }),
        isRepeatable: repeat !== "never",
        // An operation may wait for a run.
        moreTimeMs: 60_000,
      });
    },
  }),
  declareRemoteCommand({
    name: "api apply",
    parameters: ["FILE.yaml"],
    summary: "Apply a definition file to the organization of the key",
    options: { "dry-run": flag("change nothing, print the changes"), ...SERVICE },
    async run({ terminal }, [file], { "dry-run": isDryRun, ...service }) {
      return callService(terminal, readService(service, terminal.caller), {
        method: "POST",
        path: isDryRun ? "/v1/apply?dryRun=true" : "/v1/apply",
        headers: { "Content-Type": YAML_TYPE },
        body: await readSource(file, terminal),
        // The answer shows addresses and secrets that it creates only once.
        isRepeatable: isDryRun === true,
        moreTimeMs: 0,
      });
    },
  }),
  declareRemoteCommand({
    name: "api export",
    summary: "Print the organization of the key as a definition file",
    options: SERVICE,
    run: async ({ terminal }, _, service) =>
      callService(terminal, readService(service, terminal.caller), {
        method: "GET",
        path: "/v1/export?format=yaml",
        headers: {},
        isRepeatable: true,
        moreTimeMs: 0,
      }),
  }),
  declareRemoteCommand({
    name: "api follow",
    parameters: ["KIND", "RUN"],
    summary: "Print the events of a run, one JSON object per line, until its end",
    choices: { KIND: ["agent", "tool"] },
    options: SERVICE,
    async run({ terminal }, [kind, runId], service) {
      if (kind !== "agent" && kind !== "tool") throw new UsageError(`"${kind}" is not agent or tool.`);
      if (!isUuid(runId)) throw new UsageError(`"${runId}" is not the id of a run.`);
      const { caller, closed } = terminal;
      const path = `/v1/${kind}s/run/${runId}/events`;
      const events = follow(readService(service, caller), path, { signal: closed });
      try {
        for await (const event of events) terminal.out(JSON.stringify(event));
      } catch (error) {
        if (!closed.aborted) throw error;
      }
      return "";
    },
  }),
];

function readService(given: { url?: string; key?: string }, caller: Caller): Settings {
  const address = given.url ?? caller.url;
  if (!address) throw new UsageError("--url or STEPWELL_URL is missing.");
  if (!URL.canParse(address)) throw new UsageError(`"${address}" is not an address, such as https://…`);
  const secret = given.key ?? caller.key;
  if (!secret) throw new UsageError("--key or STEPWELL_KEY is missing.");
  return {
    url: new URL(address).href.replace(/\/+$/, ""),
    key: secret,
    fetch,
    retries: 4,
    timeoutMs: 60_000,
    maxRetryAfterMs: 60_000,
  };
}

type Call = Omit<Parameters<typeof send>[1], "signal">;

async function callService({ out }: Terminal, service: Settings, call: Call): Promise<""> {
  const answer = await send(service, { ...call, signal: undefined }, async (response, connection) => {
    const text = await response.text();
    connection.close();
    return withoutLastBreak(text);
  });
  if (answer !== "") out(answer);
  return "";
}

function readPair(pair: string): [string, string] {
  const [, name, value] = /^(\w[\w.]*)=(.*)$/s.exec(pair) ?? [];
  if (name === undefined || value === undefined) throw new UsageError(`"${pair}" is not NAME=VALUE.`);
  return [name, value];
}

function readHeader(line: string): [string, string] {
  const [, name, value] = /^([\w-]+): *(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new UsageError(`"${line}" is not 'NAME: VALUE'.`);
  return [name, value];
}

function takeFrom(values: Map<string, string>, name: string): string {
  const value = values.get(name);
  if (value === undefined) throw new UsageError(`${name}=… is missing.`);
  values.delete(name);
  return encodeURIComponent(value);
}
