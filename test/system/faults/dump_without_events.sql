Guarantee: B5
Test: TestBackupRestores
Package: ./test/system/recovery
Fault: events belong to an extension, so that a dump has none

ALTER EXTENSION plpgsql ADD TABLE api.signal_events
