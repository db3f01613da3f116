-- The short link to the page of an account is deleted with the account.
GRANT DELETE ON short_links TO hub_rw;
