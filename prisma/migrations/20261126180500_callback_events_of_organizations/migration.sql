-- AlterTable
ALTER TABLE "callback_endpoints" ADD COLUMN     "credits_below" DECIMAL(18,4),
ADD COLUMN     "credits_low_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "callback_events" ADD COLUMN     "data" TEXT,
ADD COLUMN     "endpoint_id" UUID,
ADD COLUMN     "schedule_id" UUID;

-- Rules that schema.prisma cannot express.
ALTER TABLE callback_endpoints ADD CONSTRAINT callback_endpoints_credits CHECK (credits_below > 0 AND (credits_below IS NOT NULL) = ('credits.low' = ANY (events)));
CREATE INDEX callback_endpoints_watch_credits ON callback_endpoints (organization_id) WHERE credits_below IS NOT NULL AND deleted_at IS NULL;
