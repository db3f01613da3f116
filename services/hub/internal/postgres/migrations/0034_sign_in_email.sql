-- E-mail address that the identity provider has verified at the sign-in of the session, encrypted. It ends with the session.
ALTER TABLE sessions ADD COLUMN email text CHECK (octet_length(email) BETWEEN 1 AND 1024);
GRANT UPDATE (email) ON sessions TO hub_rw;
