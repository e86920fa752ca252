-- AlterTable
ALTER TABLE "triggers" ADD COLUMN     "filter" TEXT,
ADD COLUMN     "signature" TEXT NOT NULL DEFAULT '"hex"';

UPDATE "triggers" SET "signature" = '"standard-webhooks"' WHERE "signature_scheme" = 'standard_webhooks';

-- AlterTable
ALTER TABLE "triggers" DROP COLUMN "signature_scheme";

-- DropEnum
DROP TYPE "signature_scheme";

-- AlterTable
ALTER TABLE "deliveries" ADD COLUMN     "signature_check" TEXT;

-- AlterEnum
ALTER TYPE "delivery_outcome" ADD VALUE 'filtered';
