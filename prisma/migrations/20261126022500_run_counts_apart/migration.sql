-- Drafts are no longer counted as runs of the dashboard, and child runs are counted apart.
ALTER TYPE "run_source" ADD VALUE 'draft';

-- AlterTable
ALTER TABLE "run_counts" ADD COLUMN     "children" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "credits_below" DECIMAL(18,4) NOT NULL DEFAULT 0,
ADD COLUMN     "draft_credits" DECIMAL(18,4) NOT NULL DEFAULT 0,
ADD COLUMN     "drafts" INTEGER NOT NULL DEFAULT 0;

-- Everything is counted again.
DELETE FROM run_counts_until;
DELETE FROM run_counts;
