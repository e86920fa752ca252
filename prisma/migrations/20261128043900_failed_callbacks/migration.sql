-- AlterTable
ALTER TABLE "callback_endpoints" ADD COLUMN     "failed_at" TIMESTAMPTZ(3);
