-- A step that its condition skipped. Nothing counts it.
ALTER TYPE "step_status" ADD VALUE 'Skipped';
