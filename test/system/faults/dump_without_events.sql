Guarantee: B5
Test: TestBackupRestores
Package: ./test/system/recovery
Fault: the table of events belongs to an extension, so a dump does not contain it

ALTER EXTENSION plpgsql ADD TABLE api.signal_events
