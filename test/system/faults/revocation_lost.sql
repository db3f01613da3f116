Guarantee: G3
Test: TestRevokedKeysAreRefusedAtOnce
Package: ./test/system/access
Fault: a revocation is answered and not stored

CREATE FUNCTION api.keep_key() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.revoked_at := NULL; RETURN NEW; END';
CREATE TRIGGER keep_key BEFORE UPDATE ON api.operator_keys FOR EACH ROW EXECUTE FUNCTION api.keep_key();
