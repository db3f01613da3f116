package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// Limits of a JSON document that a provider publishes.
const (
	maxDocument = 64 << 10 // size in bytes
	maxKeys     = 64       // keys in a key set; later ones are ignored
)

// source requests the keys that one identity provider publishes.
type source struct {
	http    *http.Client
	issuer  string
	jwksURL string // empty: found by discovery
}

// keys requests the published keys. It ignores keys that are private, invalid or not for signatures, and fails if no
// key remains.
func (s source) keys(ctx context.Context) ([]jose.JSONWebKey, error) {
	at := s.jwksURL
	if at == "" {
		var err error
		if at, err = s.discover(ctx); err != nil {
			return nil, err
		}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.document(ctx, at, &set); err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys[:min(len(set.Keys), maxKeys)] {
		var k jose.JSONWebKey
		if json.Unmarshal(raw, &k) != nil || !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
			continue
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, errors.New("read keys: no usable key")
	}
	return keys, nil
}

// discover returns the URL of the keys from the discovery document of the issuer (OpenID Connect Discovery 1.0,
// section 4).
func (s source) discover(ctx context.Context) (string, error) {
	var doc struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := s.document(ctx, strings.TrimSuffix(s.issuer, "/")+"/.well-known/openid-configuration", &doc); err != nil {
		return "", fmt.Errorf("discover: %w", err)
	}
	if doc.Issuer != s.issuer || !isWebURL(doc.JWKSURI) {
		return "", fmt.Errorf("discover: unexpected issuer %.100q or invalid jwks_uri %.100q", doc.Issuer, doc.JWKSURI)
	}
	return doc.JWKSURI, nil
}

func (s source) document(ctx context.Context, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	return fetchJSON(s.http, req, into)
}

// errAbsent is the error of fetchJSON for a response with status 404.
var errAbsent = errors.New("status 404")

// fetchJSON sends a request and decodes the JSON response. It returns errAbsent for status 404, and an error for
// every other status except 200 and for a body larger than maxDocument.
func fetchJSON(client *http.Client, req *http.Request, into any) error {
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return errAbsent
	default:
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return err
	}
	if len(body) > maxDocument {
		return fmt.Errorf("response is larger than %d bytes", maxDocument)
	}
	return json.Unmarshal(body, into)
}
