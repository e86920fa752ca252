-- AlterTable
ALTER TABLE "callback_deliveries" ADD COLUMN     "host_hash" SMALLINT NOT NULL DEFAULT 0;

-- Rules that schema.prisma cannot express.
CREATE INDEX callback_deliveries_due_by_host ON callback_deliveries (endpoint_id, host_hash, next_at) WHERE next_at IS NOT NULL;
