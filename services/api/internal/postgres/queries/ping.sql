-- Reached by readiness.
SELECT 1
