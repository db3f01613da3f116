-- $1 kind, $2 id, $3 hidden, $4 reason, $5 name of the administrator, $6 now. False: there is no such thing.
SELECT moderate($1, $2, $3, $4, $5, $6)
