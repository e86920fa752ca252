-- AlterTable
ALTER TABLE "model_calls" ADD COLUMN     "cache_write_tokens" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "cached_input_tokens" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "reasoning_tokens" INTEGER NOT NULL DEFAULT 0;
