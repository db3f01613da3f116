-- A sender repeats what it got no answer for; nobody does so for a week.
DELETE FROM published WHERE taken_at < now() - interval '7 days'
