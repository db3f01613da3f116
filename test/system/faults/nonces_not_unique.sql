Guarantee: J2
Test: TestOneMessagePerNonce
Package: ./test/system/access
Fault: the nonces of messages have no unique key

ALTER TABLE hub.messages DROP CONSTRAINT messages_nonce;
