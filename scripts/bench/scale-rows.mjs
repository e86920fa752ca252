import { v7 } from "uuid";

/** The documents of `flush_writes` for agent runs of equal size: starts, model calls, steps and ends. */

/** @typedef {{ id: string, agent: string, hash: string }} Organization */
/** @typedef {{ run: string, org: string }} Run */

const INPUT = "What do twelve apples at 0.80 cost, and what is left of a note of 20? ".repeat(8);
export const TEXT = "The answer is made of a few sentences, as most answers of a model are. ".repeat(6);

/** @param {Organization} organization @param {number} i */
export function startItem({ id, agent, hash }, i) {
  return {
    i,
    id: v7(),
    org: id,
    rate_key: `starts:${id}`,
    rate_limit: 1_000_000_000,
    rate_seconds: 60,
    scope: null,
    idem: null,
    hash: null,
    response: null,
    replay_first: false,
    kind: "agent",
    agent,
    tool: null,
    name: "Bench",
    version: 1,
    model: "bench",
    configuration: hash,
    document: null,
    source: "operator",
    trigger: null,
    api_key: null,
    user: null,
    input: INPUT,
    hold: "0.5000",
    headroom: "2.0000",
    cap: null,
    cap_of: null,
    deadline: 900,
    actor: "bench",
    delivery: null,
  };
}

/** @param {Run} run @param {number} i @param {{ calls: number, steps: number }} made */
export function endItem({ run, org }, i, { calls, steps }) {
  const sequence = calls + steps + 2;
  const used = { input_tokens: 900, output_tokens: 300, actions: steps, steps, credits: "0.2300" };
  const outcome = { status: "Completed", output: TEXT, code: null, message: null, cancelled_by: null };
  return {
    i,
    run,
    org,
    epoch: 1,
    unclaimed: false,
    ...outcome,
    ...used,
    note: "run ended",
    refund: false,
    sequence,
  };
}

/** @param {Run} run @param {number} n */
export function callRow({ run, org }, n) {
  const usage = { input_tokens: 300, output_tokens: 100, estimated: false, credits: "0.0700" };
  const call = {
    iteration: n,
    provider: "bench",
    model: "bench",
    content: TEXT,
    tool_calls: "[]",
    finish_reason: "stop",
  };
  return { ...rowOf(run, org), key: `think-${n}`, ...call, ...usage, sequence: n * 2 };
}

/** @param {Run} run @param {number} n */
export function stepRow({ run, org }, n) {
  const step = {
    number: n,
    iteration: n,
    tool: "calculate",
    input: '{"expression":"12*0.8"}',
    output: '{"result":9.6}',
  };
  const usage = {
    reasoning: "",
    input_tokens: 300,
    output_tokens: 100,
    actions: 1,
    credits: "0.0100",
    child: null,
  };
  return { ...rowOf(run, org), key: `call-${n}-1`, ...step, ...usage, sequence: n * 2 + 1 };
}

/** @param {string} run @param {string} org */
function rowOf(run, org) {
  const finished = { status: "Completed", error: null, attempts: "[]", duration: 3 };
  return { id: v7(), org, run, ...finished, started_at: new Date().toISOString() };
}
