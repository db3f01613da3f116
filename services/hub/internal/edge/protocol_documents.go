package edge

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// issuerJSON is the discovery document: RFC 8414 and what is ours.
type issuerJSON struct {
	Issuer                string       `json:"issuer"`
	AuthorizationEndpoint string       `json:"authorization_endpoint"`
	TokenEndpoint         string       `json:"token_endpoint"`
	RevocationEndpoint    string       `json:"revocation_endpoint"`
	IntrospectionEndpoint string       `json:"introspection_endpoint"`
	ScopesSupported       []string     `json:"scopes_supported"`
	ResponseTypes         []string     `json:"response_types_supported"`
	ResponseModes         []string     `json:"response_modes_supported"`
	GrantTypes            []string     `json:"grant_types_supported"`
	TokenAuth             []string     `json:"token_endpoint_auth_methods_supported"`
	RevocationAuth        []string     `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectionAuth     []string     `json:"introspection_endpoint_auth_methods_supported"`
	ChallengeMethods      []string     `json:"code_challenge_methods_supported"`
	TellsIssuer           bool         `json:"authorization_response_iss_parameter_supported"`
	ClientDocuments       bool         `json:"client_id_metadata_document_supported"`
	ServiceDocumentation  string       `json:"service_documentation"`
	Protocol              protocolJSON `json:"protocol"`
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

// issuerDocument is GET P and its twin under /.well-known.
func (s *server) issuerDocument() echo.HandlerFunc {
	issuer := s.HubURL + protocolBase
	proving := []string{"none", "client_secret_basic", "client_secret_post"}
	doc := issuerJSON{
		Issuer: issuer, AuthorizationEndpoint: s.HubURL + "/protocol/authorize", TokenEndpoint: issuer + "/oauth/token",
		RevocationEndpoint: issuer + "/oauth/revoke", IntrospectionEndpoint: issuer + "/oauth/introspect",
		ScopesSupported: grant.AllScopes().Words(), ResponseTypes: []string{"code"}, ResponseModes: []string{"query"},
		GrantTypes: []string{"authorization_code", "refresh_token"},
		TokenAuth:  proving, RevocationAuth: proving, IntrospectionAuth: proving[1:],
		ChallengeMethods: []string{"S256"}, TellsIssuer: true, ServiceDocumentation: s.HubURL + "/openapi.json",
		Protocol: protocolJSON{
			Version: 1, MessageTypes: message.Types[:],
			Signature: signatureJSON{
				Kind: "ed25519", Canonicalization: "RFC8785", Prefix: "denpa-message-v1", Encoding: "hex", TimestampUnit: "ms",
				WindowMs: map[string]int{"past": 300_000, "future": 60_000}, NonceMin: 16,
			},
			Endpoints: map[string]string{
				"apps": issuer + "/apps/{appId}", "me": issuer + "/me", "passports": issuer + "/passports/{denpaId}", "grants": issuer + "/grants",
				"signers": issuer + "/signers", "signerChallenge": issuer + "/signers/challenge", "messages": issuer + "/messages",
				"verify": issuer + "/messages/verify", "predictions": issuer + "/predictions", "signals": issuer + "/signals",
				"schemas": issuer + "/schemas/{type}",
			},
			Keys: issuer + "/keys",
			Limits: map[string]int{
				"keyPerMinute": caller.KeyLimit, "grantPerMinute": caller.TokenLimit, "tokenEndpointPerMinute": caller.ClientLimit,
				"messageBytes": message.MaxSize, "messagesPerMinute": MessageLimit,
			},
		},
	}
	return func(c echo.Context) error { return tagged(c, doc) }
}

// resourceDocument says which issuer the tokens for a resource come from (RFC 9728).
func (s *server) resourceDocument(path string) echo.HandlerFunc {
	issuer := s.HubURL + protocolBase
	doc := openapi.ProtectedResource{
		Resource: issuer + path, AuthorizationServers: []string{issuer}, ScopesSupported: grant.AllScopes().Words(),
		BearerMethodsSupported: []string{"header"}, ResourceName: "Signalcast",
	}
	return func(c echo.Context) error { return tagged(c, doc) }
}
