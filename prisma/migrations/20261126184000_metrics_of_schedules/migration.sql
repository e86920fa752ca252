-- AlterEnum
ALTER TYPE "run_count_dimension" ADD VALUE 'schedule';
