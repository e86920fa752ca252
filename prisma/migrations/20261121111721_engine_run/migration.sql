-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "claimed_by" TEXT;
