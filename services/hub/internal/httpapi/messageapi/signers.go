package messageapi

import (
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// maxScopes is the maximum number of scopes in a request. A valid list is shorter, because a signer has at most one scope for
// each message type.
const maxScopes = 32

// ownerOf returns the owner of the signers that a request creates. For an app token, it includes the app, the grant and the
// expiry of the grant. Error: unauthenticated if the grant has ended.
func (s *Server) ownerOf(c echo.Context) (message.Owner, error) {
	who := request.Caller(c)
	out := message.Owner{DenpaID: who.UserID(), KeyID: who.KeyID, Scopes: grant.ScopesOf(who).Words()}
	if who.Kind != caller.Token {
		return out, nil
	}
	out.AppID, out.GrantID = who.Delegate.AppID, who.Delegate.GrantID
	grants, err := s.Grants.OwnGrant(c.Request().Context(), grant.PrincipalOf(who))
	if err != nil {
		return out, err
	}
	for _, g := range grants {
		if g.ID == out.GrantID {
			out.ExpiresAt = g.ExpiresAt
			return out, nil
		}
	}
	return out, apperr.ErrCredentialRevoked // the grant ended after the token was checked
}

// ChallengeSigner handles POST /api/protocol/v1/signers/challenge, which returns the challenge that a new signer must sign.
func (s *Server) ChallengeSigner(c echo.Context) error {
	by, err := s.ownerOf(c)
	if err != nil {
		return err
	}
	o, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	key := o.String("publicKey", httpx.BodyLimit, true)
	if err := o.Err(); err != nil {
		return request.InvalidRequest(err)
	}
	challenge, until, err := s.Messages.Challenge(c.Request().Context(), by, key)
	return view.OK(c, openapi.SignerChallenge{Challenge: challenge, ExpiresAt: protocol.Stamp(until)}, err)
}

// RegisterSigner handles POST /api/protocol/v1/signers, which registers a public key as a signer.
func (s *Server) RegisterSigner(c echo.Context) error {
	by, err := s.ownerOf(c)
	if err != nil {
		return err
	}
	o, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	d := message.SignerDraft{
		PublicKey: o.String("publicKey", httpx.BodyLimit, true),
		Scopes:    o.Strings("scopes", maxScopes, httpx.BodyLimit),
		Label:     request.Optional(o, "label"),
		ExpiresAt: request.Optional(o, "expiresAt"),
		Challenge: o.String("challenge", httpx.BodyLimit, true),
		Proof:     o.String("proof", httpx.BodyLimit, true),
	}
	if err := o.Err(); err != nil {
		return request.InvalidRequest(err)
	}
	made, err := s.Messages.RegisterSigner(c.Request().Context(), by, d)
	return view.Created(c, showSigner(made, s.Now()), err)
}

// queryDenpaID returns the parameter denpaId in lower case. Invalid values are returned unchanged; the message service rejects
// them.
func queryDenpaID(c echo.Context) string {
	raw := c.QueryParam("denpaId")
	if id, ok := request.ParseUUID(raw); ok {
		return id
	}
	return raw
}

// ListSigners handles GET /api/protocol/v1/signers?denpaId=, the signers of a user.
func (s *Server) ListSigners(c echo.Context) error {
	list, err := s.Messages.ListSigners(c.Request().Context(), queryDenpaID(c))
	show := func(one message.Signer) openapi.Signer { return showSigner(one, s.Now()) }
	return view.OK(c, openapi.SignerList{Signers: view.List(list, show)}, err)
}

// Signer handles GET /api/protocol/v1/signers/{publicKey}, one signer with its status.
func (s *Server) Signer(c echo.Context) error {
	found, err := s.Messages.Signer(c.Request().Context(), c.Param("publicKey"))
	return view.OK(c, showSigner(found, s.Now()), err)
}

// RevokeSigner handles DELETE /api/protocol/v1/signers/{publicKey}, and DELETE /api/user/signers/{publicKey} for a session. With
// an app token, it revokes only signers of the token's grant.
func (s *Server) RevokeSigner(c echo.Context) error {
	who := request.Caller(c)
	if who.Kind == caller.Key {
		if err := grant.Permit(who, grant.SignerCreate); err != nil { // keys with the permission signal pass this check
			return err
		}
	}
	by := message.Owner{DenpaID: who.UserID()}
	if who.Kind == caller.Token {
		by.AppID, by.GrantID = who.Delegate.AppID, who.Delegate.GrantID
	}
	_, err := s.Messages.RevokeSigner(c.Request().Context(), by, c.Param("publicKey"))
	return view.OK(c, openapi.Ok{Ok: true}, err)
}

func showSigner(s message.Signer, now time.Time) openapi.Signer {
	return openapi.Signer{
		PublicKey: string(s.Key), Kind: "ed25519", DenpaID: s.DenpaID, AppID: httpx.OrNull(s.AppID),
		GrantID: httpx.OrNull(s.GrantID),
		Scopes:  append([]string{}, s.Scopes...), Label: httpx.OrNull(s.Label), Status: string(s.Status(now)),
		CreatedAt: protocol.Stamp(s.CreatedAt), ExpiresAt: protocol.StampOrNull(s.ExpiresAt),
		RevokedAt: protocol.StampOrNull(s.RevokedAt),
	}
}
