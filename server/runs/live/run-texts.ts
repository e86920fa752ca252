import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";

// Without the calls of its functions, such as generate_text.
const READ_TEXTS = defineQuery(
  "read-texts-of-calls",
  z.object({
    key: z.string(),
    iteration: z.number(),
    content: z.string(),
    isOpen: z.boolean(),
    sequence: z.number(),
  }),
  `SELECT key, iteration_number AS iteration, content, status = 'Running' AS "isOpen", sequence FROM model_calls
   WHERE run_id = $1 AND organization_id = $2 AND sequence > $3 AND (key LIKE 'think-%' OR key = 'answer') ORDER BY iteration_number`,
);

/**
 * The texts of a run's model calls as they grow. They have no numbers: a reader that reconnects gets them from the
 * start.
 */
export class RunTexts {
  readonly #services: Services;
  readonly #actor: Pick<ApiKeyActor, "orgId">;
  readonly #runId: string;
  readonly #sent = new Map<string, string>();
  #sequence = -1;
  #isFirst = true;

  constructor(services: Services, actor: Pick<ApiKeyActor, "orgId">, runId: string) {
    this.#services = services;
    this.#actor = actor;
    this.#runId = runId;
  }

  async send(send: (name: string, data: { iteration: number; text?: string }) => void): Promise<void> {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const rows = await READ_TEXTS(this.#services.pool, [this.#runId, this.#actor.orgId, this.#sequence]);
    for (const { key, iteration, content, isOpen, sequence } of rows) {
      this.#sequence = Math.max(this.#sequence, sequence);
      const sent = this.#sent.get(key) ?? "";
      if (isOpen) this.#sent.set(key, content);
      else this.#sent.delete(key);
      // Answers that were complete before are in the steps and the output.
      if (isFirst && !isOpen) continue;
      const continues = content.startsWith(sent);
      // An attempt started again, or another model answers.
      if (!continues) send("text.reset", { iteration });
      const text = continues ? content.slice(sent.length) : content;
      if (text !== "") send("text.delta", { iteration, text });
    }
  }
}
