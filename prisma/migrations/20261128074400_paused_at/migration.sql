-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "paused_at" TIMESTAMPTZ(3);
