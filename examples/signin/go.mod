module example.com/signin

go 1.26.0

require golang.org/x/oauth2 v0.37.0

require github.com/gorilla/securecookie v1.1.2
