Guarantee: A8
Test: TestReadsFollowWrites
Package: ./test/system/recovery
Fault: a new call is missing in answers for 300 ms

DO $$ BEGIN EXECUTE 'CREATE OR REPLACE VIEW api.signal_records AS ' || rtrim(pg_get_viewdef('api.signal_records'), ';') ||
    ' WHERE v.created_at < clock_timestamp() - interval ''300 milliseconds'''; END $$
