package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
	"github.com/signalcast/signalcast/deploy/devidp/internal/token"
)

const maxBody = 16 << 10

// Config is what the routes need to know.
type Config struct {
	Issuer   string   // our own base URL
	AppID    string   // the audience, and the user name of the users interface
	Secret   string   // its password
	ReturnTo *url.URL // the origin that a login is handed to; nil: no login page
	People   *person.Registry
	Mint     *token.Mint
	Keys     *token.Keys
}

type edge struct{ Config }

// Handler serves every route at the root and again under /dev/idp/.
func Handler(c Config) http.Handler {
	e := edge{c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, map[string]bool{"ok": true}) })
	mux.HandleFunc("GET /.well-known/openid-configuration", e.discovery)
	mux.HandleFunc("GET /jwks.json", e.jwks)
	mux.HandleFunc("GET /v1/apps/{appId}/jwks.json", e.jwks)
	mux.HandleFunc("GET /v1/users/{did}", e.members(e.userByDID))
	mux.HandleFunc("POST /v1/users/wallet/address", e.members(e.userByWallet))
	mux.HandleFunc("GET /login", e.loginPage)
	mux.HandleFunc("POST /login", e.login)
	mux.HandleFunc("GET /login.css", stylesheet)
	mux.HandleFunc("POST /mint", e.mint)
	mux.HandleFunc("POST /users", e.addUser)
	mux.HandleFunc("POST /users/{did}/wallets", e.addWallet)
	mux.HandleFunc("POST /rotate", e.rotate)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "not_found", "no such route")
	})
	outer := http.NewServeMux()
	outer.Handle("/", mux)
	outer.Handle("/dev/idp/", http.StripPrefix("/dev/idp", mux))
	return outer
}

func (e edge) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": e.Issuer, "jwks_uri": e.Issuer + "/jwks.json", "authorization_endpoint": e.Issuer + "/login",
		"response_types_supported": []string{"token"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"},
		"claims_supported":                      []string{"iss", "aud", "sub", "sid", "iat", "exp", "auth_time", "name", "preferred_username"},
	})
}

func (e edge) jwks(w http.ResponseWriter, r *http.Request) {
	if app := r.PathValue("appId"); app != "" && app != e.AppID {
		fail(w, http.StatusNotFound, "not_found", "no such app")
		return
	}
	answer(w, http.StatusOK, e.Keys.Published())
}

func (e edge) rotate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Drop bool `json:"drop"` // the older keys are no longer published
	}
	if !read(w, r, &in) {
		return
	}
	kid, err := e.Keys.Rotate(in.Drop)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"kid": kid, "keys": len(e.Keys.Published().Keys)})
}

// read decodes a body strictly; an empty one leaves the value as it is.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, "body_too_large", "the body is larger than 16 KiB")
		return false
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return true
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil || dec.More() {
		fail(w, http.StatusBadRequest, "invalid_body", "the body is not the JSON object expected")
		return false
	}
	return true
}

// refuse answers with what an error of the registry means.
func refuse(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, person.ErrName):
		fail(w, http.StatusBadRequest, "invalid_user", err.Error())
	case errors.Is(err, person.ErrWallet):
		fail(w, http.StatusBadRequest, "invalid_wallet", err.Error())
	case errors.Is(err, person.ErrTaken):
		fail(w, http.StatusConflict, "wallet_taken", err.Error())
	case errors.Is(err, person.ErrUnknown):
		fail(w, http.StatusNotFound, "user_not_found", err.Error())
	case errors.Is(err, person.ErrFull):
		fail(w, http.StatusInsufficientStorage, "full", err.Error())
	default:
		fail(w, http.StatusInternalServerError, "internal_error", err.Error())
	}
}

func fail(w http.ResponseWriter, status int, code, text string) {
	answer(w, status, map[string]string{"error": code, "message": text})
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
