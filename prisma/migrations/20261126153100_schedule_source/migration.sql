ALTER TYPE "run_source" ADD VALUE 'schedule';
