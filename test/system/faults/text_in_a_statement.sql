Guarantee: I2
Test: TestNoStatementsFromInput
Package: ./test/system/input
Fault: a trigger inserts the text of a call into an SQL statement

CREATE FUNCTION api.note_text() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN EXECUTE ''SELECT length('''''' || coalesce(NEW.text_take, '''') || '''''')''; RETURN NEW; END';
CREATE TRIGGER note_text BEFORE INSERT ON api.signals FOR EACH ROW EXECUTE FUNCTION api.note_text();
