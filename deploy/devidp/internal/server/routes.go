package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

// maxBody is the maximum size of a request body in bytes.
const maxBody = 16 << 10

// issuer implements the HTTP routes of the development issuer.
type issuer struct {
	Config
	people *person.Registry
	keys   *keyring
}

// empty is the body type of routes without a body.
type empty struct{}

var ok = map[string]bool{"ok": true}

// handler returns the handler of all routes. It serves them at the root and under /dev/idp/.
func (e *issuer) handler() http.Handler {
	mux := http.NewServeMux()
	healthy := handle(func(*http.Request, empty) (any, error) { return ok, nil })
	mux.HandleFunc("GET /healthz", healthy)
	mux.HandleFunc("GET /readyz", healthy)
	mux.HandleFunc("GET /.well-known/openid-configuration", handle(e.discovery))
	mux.HandleFunc("GET /jwks.json", handle(e.jwks))
	mux.HandleFunc("GET /v1/apps/{appId}/jwks.json", handle(e.jwks))
	mux.HandleFunc("GET /v1/users/{did}", e.requireApp(handle(e.userByDID)))
	mux.HandleFunc("POST /v1/users/wallet/address", e.requireApp(handle(e.userByWallet)))
	mux.HandleFunc("GET /login", e.loginPage)
	mux.HandleFunc("POST /login", e.login)
	mux.HandleFunc("GET /login.css", stylesheet)
	mux.HandleFunc("POST /mint", handle(e.mint))
	mux.HandleFunc("POST /users", handle(e.addUser))
	mux.HandleFunc("POST /users/{did}/wallets", handle(e.addWallet))
	mux.HandleFunc("POST /rotate", handle(e.rotate))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, errRoute) })
	outer := http.NewServeMux()
	outer.Handle("/", mux)
	outer.Handle("/dev/idp/", http.StripPrefix("/dev/idp", mux))
	return outer
}

func (e *issuer) discovery(*http.Request, empty) (any, error) {
	return map[string]any{
		"issuer": e.Issuer, "jwks_uri": e.Issuer + "/jwks.json", "authorization_endpoint": e.Issuer + "/login",
		"response_types_supported": []string{"token"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"},
		"scopes_supported":                      []string{"openid", "email"},
		"claims_supported": []string{
			"iss", "aud", "sub", "sid", "iat", "exp", "auth_time", "name", "preferred_username", "email", "email_verified",
		},
	}, nil
}

func (e *issuer) jwks(r *http.Request, _ empty) (any, error) {
	if app := r.PathValue("appId"); app != "" && app != e.Audience {
		return nil, errApp
	}
	return e.keys.published(), nil
}

// rotate implements the route that adds a signing key. If drop is true, the older keys are no longer published.
func (e *issuer) rotate(_ *http.Request, in struct{ Drop bool }) (any, error) {
	kid, err := e.keys.rotate(in.Drop)
	return map[string]any{"kid": kid, "keys": len(e.keys.published().Keys)}, err
}

// handle returns a handler that decodes the JSON body, calls the function do, and writes the result of do or an error
// response. The handler refuses unknown members. For an empty body, it passes the zero value of T to do.
func handle[T any](do func(*http.Request, T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			refuse(w, errTooLarge)
			return
		}
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil && err != io.EOF || dec.More() {
			refuse(w, errBody)
			return
		}
		out, err := do(r, in)
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, http.StatusOK, out)
	}
}

// Errors of requests. The map problems contains their HTTP statuses.
var (
	errApp      = errors.New("app not found")
	errBody     = errors.New("body must be one JSON object with the members of the route")
	errAppAuth  = errors.New("app id and secret are required as basic authentication, and the app id in the header privy-app-id")
	errProfile  = errors.New("profile must be oidc or privy")
	errRoute    = errors.New("route not found")
	errTooLarge = errors.New("body must be at most 16 KiB")
	errTTL      = errors.New("ttl, age and signedIn must be from -31622400 to 31622400 seconds")
)

// problem contains the HTTP status and the error code of an error response.
type problem struct {
	status int
	code   string
}

// problems maps errors to their HTTP status and error code.
var problems = map[error]problem{
	errApp: {http.StatusNotFound, "not_found"}, errBody: {http.StatusBadRequest, "invalid_body"},
	errAppAuth: {http.StatusUnauthorized, "unauthenticated"}, errProfile: {http.StatusBadRequest, "invalid_profile"},
	errRoute: {http.StatusNotFound, "not_found"}, errTooLarge: {http.StatusRequestEntityTooLarge, "body_too_large"},
	errTTL: {http.StatusBadRequest, "invalid_ttl"}, person.ErrName: {http.StatusBadRequest, "invalid_user"},
	person.ErrWallet: {http.StatusBadRequest, "invalid_wallet"}, person.ErrTaken: {http.StatusConflict, "wallet_taken"},
	person.ErrUnknown: {http.StatusNotFound, "user_not_found"}, person.ErrFull: {http.StatusInsufficientStorage, "full"},
}

// refuse writes an error response for err. If the map problems does not contain the error, the response is 500
// internal_error.
func refuse(w http.ResponseWriter, err error) {
	p := problem{http.StatusInternalServerError, "internal_error"}
	for known, of := range problems {
		if errors.Is(err, known) {
			p = of
		}
	}
	answer(w, p.status, map[string]string{"error": p.code, "message": err.Error()})
}

func answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":"internal_error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}
