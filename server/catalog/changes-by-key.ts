import type { ApiKeyActor } from "@/server/base/actor";
import { archive } from "./archive";
import { callbackDefinition } from "./callbacks/callback-definition";
import { deleteCallback } from "./callbacks/change-callback";
import { findOwnCallback, readCallback } from "./callbacks/read-callbacks";
import { putCallback } from "./callbacks/save-callback";
import { definitionChanges } from "./change-definition";
import { putNewTrigger } from "./change-trigger";
import { agentDefinition, scheduleDefinition, toolDefinition, triggerDefinition } from "./definitions";
import { among, ofTargets } from "./key-targets";
import { readAgent, readTool, readTrigger } from "./read-definitions";
import { putAgent } from "./save-agent";
import { findIssuesOfInvalidTool, putTool } from "./save-tool";
import { putTrigger } from "./save-trigger";
import { readSchedule } from "./schedules/read-schedules";
import { putSchedule } from "./schedules/save-schedule";

const FOUND = { id: true, slug: true, name: true, deletedAt: true } as const;
const ofKey = ({ orgId }: ApiKeyActor, id: string) => ({ AND: [{ id }], organizationId: orgId });

export const agentChanges = definitionChanges({
  called: "Agent",
  schema: agentDefinition,
  declared: (definition) => ({ kind: "agent", definition }),
  put: putAgent,
  read: (db, key, id) => readAgent({ db }, key, id),
  find: (tx, key, id) => tx.agent.findFirst({ where: { ...ofKey(key, id), ...among(key) }, select: FOUND }),
  archive: (change, found) => archive(change, { kind: "agent", ...found }),
});

export const toolChanges = definitionChanges({
  called: "Tool",
  schema: toolDefinition,
  declared: (definition) => ({ kind: "tool", definition }),
  findIssuesOfInvalid: findIssuesOfInvalidTool,
  put: putTool,
  read: (db, key, id) => readTool({ db }, key, id),
  find: (tx, key, id) => tx.tool.findFirst({ where: { ...ofKey(key, id), ...among(key) }, select: FOUND }),
  archive: (change, found) => archive(change, { kind: "tool", ...found }),
});

export const triggerChanges = definitionChanges({
  called: "Trigger",
  schema: triggerDefinition,
  nullable: ["secret"],
  declared: (definition) => ({ kind: "trigger", definition }),
  async put(change, definition, { only, id, generateSecret = false }) {
    if (only === "create") return putNewTrigger(change, definition, { generateSecret });
    return { ...(await putTrigger(change, definition, { only, id })), secret: null };
  },
  read: (db, key, id) => readTrigger({ db }, key, id),
  find: (tx, key, id) =>
    tx.trigger.findFirst({ where: { ...ofKey(key, id), ...ofTargets(key) }, select: FOUND }),
  archive: (change, found) => archive(change, { kind: "trigger", ...found }),
});

export const scheduleChanges = definitionChanges({
  called: "Schedule",
  schema: scheduleDefinition,
  declared: (definition) => ({ kind: "schedule", definition }),
  put: putSchedule,
  read: (db, key, id) => readSchedule({ db }, key, id),
  find: (tx, key, id) =>
    tx.schedule.findFirst({ where: { ...ofKey(key, id), ...ofTargets(key) }, select: FOUND }),
  archive: (change, found) => archive(change, { kind: "schedule", ...found }),
});

export const callbackChanges = definitionChanges({
  called: "Callback",
  schema: callbackDefinition,
  declared: (definition) => ({ kind: "callback", definition }),
  put: (change, definition, { only, id, env: { egressAllow } }) =>
    putCallback(change, definition, { only, id, egressAllow }),
  read: (db, key, id) => readCallback({ db }, key, id),
  find: findOwnCallback,
  archive: deleteCallback,
});
