package edge

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// maxScopes is more than a signer can hold: each message type once.
const maxScopes = 32

// ownerOf is for whom signers are made and removed.
func (s *server) ownerOf(c echo.Context) (message.Owner, error) {
	who := callerOf(c)
	out := message.Owner{DenpaID: userOf(who), KeyID: who.KeyID, Scopes: scopesOf(who).Words()}
	if who.Kind != caller.Token {
		return out, nil
	}
	out.AppID, out.GrantID = who.Delegate.AppID, who.Delegate.GrantID
	grants, err := s.Grants.OwnGrant(c.Request().Context(), principalOf(who))
	if err != nil {
		return out, err
	}
	for _, g := range grants {
		if g.ID == out.GrantID {
			out.ExpiresAt = g.ExpiresAt
			return out, nil
		}
	}
	return out, grant.ErrUnauthenticated // it ended since the token was looked at
}

// challengeSigner is POST P/signers/challenge.
func (s *server) challengeSigner(c echo.Context) error {
	by, err := s.ownerOf(c)
	if err != nil {
		return err
	}
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	key := o.String("publicKey", web.BodyLimit, true)
	if err := o.Err(); err != nil {
		return asRequest(err)
	}
	challenge, until, err := s.Messages.Challenge(c.Request().Context(), by, key)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.SignerChallenge{Challenge: challenge, ExpiresAt: syntax.Stamp(until)})
}

// registerSigner is POST P/signers.
func (s *server) registerSigner(c echo.Context) error {
	by, err := s.ownerOf(c)
	if err != nil {
		return err
	}
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	d := message.SignerDraft{
		PublicKey: o.String("publicKey", web.BodyLimit, true),
		Scopes:    o.Strings("scopes", maxScopes, web.BodyLimit),
		Label:     optional(o, "label"),
		ExpiresAt: optional(o, "expiresAt"),
		Challenge: o.String("challenge", web.BodyLimit, true),
		Proof:     o.String("proof", web.BodyLimit, true),
	}
	if err := o.Err(); err != nil {
		return asRequest(err)
	}
	made, err := s.Messages.RegisterSigner(c.Request().Context(), by, d)
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, showSigner(made, s.Now()))
}

// queryDenpaID takes a denpaId in any case; what is none is for the subject to refuse.
func queryDenpaID(c echo.Context) string {
	raw := c.QueryParam("denpaId")
	if id, ok := parseUUID(raw); ok {
		return id
	}
	return raw
}

// listSigners is GET P/signers?denpaId=.
func (s *server) listSigners(c echo.Context) error {
	list, err := s.Messages.ListSigners(c.Request().Context(), queryDenpaID(c))
	if err != nil {
		return err
	}
	out := openapi.SignerList{Signers: make([]openapi.Signer, 0, len(list))}
	for _, one := range list {
		out.Signers = append(out.Signers, showSigner(one, s.Now()))
	}
	return web.OK(c, out)
}

// signer is GET P/signers/{publicKey}.
func (s *server) signer(c echo.Context) error {
	found, err := s.Messages.Signer(c.Request().Context(), c.Param("publicKey"))
	if err != nil {
		return err
	}
	return web.OK(c, showSigner(found, s.Now()))
}

// revokeSigner is DELETE P/signers/{publicKey}, and /api/user/signers/{publicKey}
// for a session. An app token removes signers of its own grant alone.
func (s *server) revokeSigner(c echo.Context) error {
	who := callerOf(c)
	if who.Kind == caller.Key {
		if err := permit(who, grant.SignerCreate); err != nil { // what the permission signal stands for
			return err
		}
	}
	by := message.Owner{DenpaID: userOf(who)}
	if who.Kind == caller.Token {
		by.AppID, by.GrantID = who.Delegate.AppID, who.Delegate.GrantID
	}
	if _, err := s.Messages.RevokeSigner(c.Request().Context(), by, c.Param("publicKey")); err != nil {
		return err
	}
	return web.OK(c, openapi.Ok{Ok: true})
}

func showSigner(s message.Signer, now time.Time) openapi.Signer {
	return openapi.Signer{
		PublicKey: string(s.Key), Kind: "ed25519", DenpaID: s.DenpaID, AppID: orNull(s.AppID), GrantID: orNull(s.GrantID),
		Scopes: append([]string{}, s.Scopes...), Label: orNull(s.Label), Status: string(s.Status(now)),
		CreatedAt: syntax.Stamp(s.CreatedAt), ExpiresAt: syntax.StampOrNull(s.ExpiresAt), RevokedAt: syntax.StampOrNull(s.RevokedAt),
	}
}
