package oauthapi

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// issuerJSON is the discovery document (RFC 8414). The member "protocol" has a type of this package, because the maps of
// openapi.Issuer_Protocol lose the order of the members.
type issuerJSON struct {
	openapi.Issuer
	Protocol protocolJSON `json:"protocol"`
}

type protocolJSON struct {
	Version      int               `json:"version"`
	MessageTypes []message.Type    `json:"messageTypes"`
	Signature    signatureJSON     `json:"signature"`
	Endpoints    map[string]string `json:"endpoints"`
	Keys         string            `json:"keys"`
	Limits       map[string]int    `json:"limits"`
}

type signatureJSON struct {
	Kind             string         `json:"kind"`
	Canonicalization string         `json:"canonicalization"`
	Prefix           string         `json:"prefix"`
	Encoding         string         `json:"encoding"`
	TimestampUnit    string         `json:"timestampUnit"`
	WindowMs         map[string]int `json:"windowMs"`
	NonceMin         int            `json:"nonceMin"`
}

// IssuerDocument returns the handler that serves the discovery document (RFC 8414), at GET /api/protocol/v1 and below
// /.well-known.
func (s *Server) IssuerDocument() echo.HandlerFunc {
	issuer := s.HubURL + Base
	authMethods := []string{"none", "client_secret_basic", "client_secret_post"}
	doc := issuerJSON{
		Issuer: openapi.Issuer{
			Issuer: issuer, AuthorizationEndpoint: s.HubURL + "/protocol/authorize", TokenEndpoint: issuer + "/oauth/token",
			RevocationEndpoint: issuer + "/oauth/revoke", IntrospectionEndpoint: issuer + "/oauth/introspect",
			ScopesSupported:        grant.AllScopes().Words(),
			ResponseTypesSupported: []string{"code"}, ResponseModesSupported: []string{"query"},
			GrantTypesSupported:               []string{"authorization_code", "refresh_token"},
			TokenEndpointAuthMethodsSupported: authMethods, RevocationEndpointAuthMethodsSupported: authMethods,
			IntrospectionEndpointAuthMethodsSupported: authMethods[1:], CodeChallengeMethodsSupported: []string{"S256"},
			AuthorizationResponseIssParameterSupported: true, ServiceDocumentation: s.HubURL + "/openapi.json",
		},
		Protocol: protocolJSON{
			Version: 1, MessageTypes: message.Types[:],
			Signature: signatureJSON{
				Kind: "ed25519", Canonicalization: "RFC8785", Prefix: "denpa-message-v1", Encoding: "hex", TimestampUnit: "ms",
				WindowMs: map[string]int{"past": 300_000, "future": 60_000}, NonceMin: 16,
			},
			Endpoints: map[string]string{
				"apps": issuer + "/apps/{appId}", "me": issuer + "/me", "passports": issuer + "/passports/{denpaId}",
				"grants":  issuer + "/grants",
				"signers": issuer + "/signers", "signerChallenge": issuer + "/signers/challenge",
				"messages": issuer + "/messages",
				"verify":   issuer + "/messages/verify", "predictions": issuer + "/predictions", "signals": issuer + "/signals",
				"schemas": issuer + "/schemas/{type}",
			},
			Keys: issuer + "/keys",
			Limits: map[string]int{
				"keyPerMinute": caller.KeyLimit, "grantPerMinute": caller.TokenLimit,
				"tokenEndpointPerMinute": caller.ClientLimit,
				"messageBytes":           message.MaxSize, "messagesPerMinute": message.PerMinute,
			},
		},
	}
	return func(c echo.Context) error { return httpx.Tagged(c, doc) }
}

// ResourceDocument returns the handler that serves the metadata of a protected resource (RFC 9728). The metadata names the issuer
// of tokens for the resource, and the scopes that its routes require. path is relative to the base path of the protocol; empty
// means all protocol routes.
func (s *Server) ResourceDocument(path string, scopes grant.Scopes) echo.HandlerFunc {
	issuer := s.HubURL + Base
	doc := openapi.ProtectedResource{
		Resource: issuer + path, AuthorizationServers: []string{issuer}, ScopesSupported: scopes.Words(),
		BearerMethodsSupported: []string{"header"}, ResourceName: "Signalcast",
	}
	return func(c echo.Context) error { return httpx.Tagged(c, doc) }
}

// Base is the base path of the protocol for third-party apps. Its routes accept app tokens, operator keys and client credentials;
// they ignore cookies.
const Base = "/api/protocol/v1"
