-- A default that is constant changes no row.
ALTER TABLE "organizations" ADD COLUMN "has_callbacks" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "callback_endpoints" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "slug" TEXT,
    "name" TEXT NOT NULL,
    "url" TEXT,
    "events" TEXT[],
    "target_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "trigger_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "metadata" TEXT NOT NULL DEFAULT '{}',
    "disabled_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "callback_endpoints_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "callback_secrets" (
    "id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "callback_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "callback_events" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "run_id" UUID,
    "wait" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expanded_at" TIMESTAMPTZ(3),

    CONSTRAINT "callback_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "callback_deliveries" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "next_at" TIMESTAMPTZ(3),
    "leased_until" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "callback_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "callback_attempts" (
    "delivery_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "status" INTEGER,
    "error" TEXT,
    "answer" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "callback_attempts_pkey" PRIMARY KEY ("delivery_id","number")
);

-- CreateIndex
CREATE INDEX "callback_endpoints_organization_id_idx" ON "callback_endpoints"("organization_id");

-- CreateIndex
CREATE INDEX "callback_secrets_endpoint_id_idx" ON "callback_secrets"("endpoint_id");

-- CreateIndex
CREATE INDEX "callback_events_organization_id_created_at_idx" ON "callback_events"("organization_id", "created_at");

-- CreateIndex
CREATE INDEX "callback_deliveries_endpoint_id_id_idx" ON "callback_deliveries"("endpoint_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "callback_deliveries_event_id_endpoint_id_key" ON "callback_deliveries"("event_id", "endpoint_id");

-- AddForeignKey
ALTER TABLE "callback_endpoints" ADD CONSTRAINT "callback_endpoints_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "callback_secrets" ADD CONSTRAINT "callback_secrets_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "callback_endpoints"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "callback_events" ADD CONSTRAINT "callback_events_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "callback_deliveries" ADD CONSTRAINT "callback_deliveries_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "callback_events"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "callback_deliveries" ADD CONSTRAINT "callback_deliveries_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "callback_endpoints"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "callback_attempts" ADD CONSTRAINT "callback_attempts_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "callback_deliveries"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Rules that schema.prisma cannot express.
ALTER TABLE callback_endpoints ADD CONSTRAINT callback_endpoints_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$');
ALTER TABLE callback_endpoints ADD CONSTRAINT callback_endpoints_address CHECK ((slug IS NULL) = (url IS NULL));
CREATE UNIQUE INDEX callback_endpoints_slug ON callback_endpoints (organization_id, slug) NULLS NOT DISTINCT WHERE deleted_at IS NULL;
CREATE INDEX callback_events_new ON callback_events (created_at) WHERE expanded_at IS NULL;
CREATE INDEX callback_deliveries_due ON callback_deliveries (endpoint_id, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX callback_deliveries_leased ON callback_deliveries (endpoint_id) WHERE leased_until IS NOT NULL;
