-- CreateEnum
CREATE TYPE "link_purpose" AS ENUM ('set_up', 'password');

-- AlterTable
ALTER TABLE "workers" ADD COLUMN     "settings" TEXT;

-- CreateTable
CREATE TABLE "one_time_links" (
    "id" UUID NOT NULL,
    "purpose" "link_purpose" NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "user_id" UUID,
    "organization_id" UUID,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "one_time_links_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "one_time_links_user_id_idx" ON "one_time_links"("user_id");

-- CreateIndex
CREATE INDEX "one_time_links_organization_id_idx" ON "one_time_links"("organization_id");

-- CreateIndex
CREATE INDEX "one_time_links_created_by_idx" ON "one_time_links"("created_by");

-- AddForeignKey
ALTER TABLE "one_time_links" ADD CONSTRAINT "one_time_links_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "one_time_links" ADD CONSTRAINT "one_time_links_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "one_time_links" ADD CONSTRAINT "one_time_links_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
