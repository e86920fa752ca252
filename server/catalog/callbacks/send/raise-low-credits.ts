import { defineCommand, isOpenSql } from "@/server/base/db/statement";

/**
 * Records `credits.low` for callbacks whose organization has fewer credits left than they name: once, until there are
 * enough again. What open runs hold counts as left, because much of it is released.
 */
export const raiseLowCredits = defineCommand(
  "raise-low-credits",
  `WITH watched AS (
     SELECT c.id, c.credits_below, o.balance, open.held, o.balance + open.held < c.credits_below AS is_low
     FROM callback_endpoints c JOIN organizations o ON o.id = c.organization_id
     CROSS JOIN LATERAL (
       -- Reads no runs if the balance is enough without them.
       SELECT coalesce(sum(r.held), 0)::numeric(18, 4) AS held FROM runs r
       WHERE o.balance < c.credits_below AND r.organization_id = o.id AND ${isOpenSql("r")}) open
     WHERE c.credits_below IS NOT NULL AND c.deleted_at IS NULL AND c.disabled_at IS NULL
   ), crossed AS (
     UPDATE callback_endpoints c SET credits_low_at = CASE WHEN w.is_low THEN coalesce($1, clock_timestamp()) END
     FROM watched w
     -- Another process may have recorded it meanwhile.
     WHERE c.id = w.id AND c.credits_below = w.credits_below AND (c.credits_low_at IS NULL) = w.is_low
     RETURNING c.id, c.organization_id, c.credits_low_at, c.credits_below, w.balance, w.held
   )
   INSERT INTO callback_events (id, organization_id, type, endpoint_id, data, created_at)
   SELECT gen_random_uuid(), organization_id, 'credits.low', id,
     json_build_object('available', balance::text, 'held', held::text, 'creditsBelow', credits_below::text), credits_low_at
   FROM crossed WHERE credits_low_at IS NOT NULL`,
);
