-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "callback_url" TEXT,
ADD COLUMN     "metadata" TEXT;

-- Functions of an earlier release don't know these attributes, which are null then.
ALTER TYPE start_item ADD ATTRIBUTE metadata text, ADD ATTRIBUTE callback_url text;
