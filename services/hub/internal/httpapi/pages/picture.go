package pages

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/picture"
)

const (
	cachePicture = "public, max-age=300"
	// cacheVersion is the rule for a request with the present version. Shared caches must not serve a removed picture for a day.
	cacheVersion = "public, max-age=86400, s-maxage=300"
	// pictureTimeout is the time limit of a request that may fetch a picture from another server.
	pictureTimeout = 8 * time.Second
)

// picture handles GET /u/{handle}/picture and answers with the stored picture of the operator. Errors: not_found if the operator has no
// picture or the account is closed, suspended or deleted; db_unavailable; the errors of the ledger.
func (s *server) picture(c echo.Context, account identityclaim.Account) error {
	ctx := c.Request().Context()
	suspended, err := s.People.Payouts.Suspended(ctx, account.Handle)
	if err != nil {
		return err
	}
	if suspended || !account.ClosingAt.IsZero() || account.Handle.IsDeleted() {
		return httpx.ErrNotFound
	}
	jpeg, err := s.People.Pictures.Find(ctx, account.Operator)
	switch {
	case errors.Is(err, picture.ErrNone), errors.Is(err, picture.ErrWait):
		return httpx.ErrNotFound
	case err != nil:
		return err
	}
	if c.QueryParam("v") == picture.Version(account.AvatarURL) {
		c.Response().Header().Set("Cache-Control", cacheVersion)
	}
	httpcache.Make(jpeg).As("image/jpeg").WriteTo(c.Response(), c.Request())
	return nil
}

// pictureChange returns the change of avatarUrl in a profile form, without links and texts. An uploaded picture has precedence
// over an address, also over an empty one; its address is set when it is decoded. The address that the form showed is no change:
// another form may have replaced it since then.
func pictureChange(account identityclaim.Account, input profileForm) (change operator.Profile) {
	switch {
	case input.Picture != "":
		change.OwnPicture = true
	case input.Avatar != input.FormerAvatar && input.Avatar != account.AvatarURL:
		change.Avatar = changeTo(input.Avatar)
	}
	return change
}

// pictureOf returns the picture of a profile change: the upload, the picture of a new address, or nil. problem is the error text
// of the field; empty: none. Error: db_unavailable, and that of ctx if it ends.
func (s *server) pictureOf(
	ctx context.Context, of operator.ID, change operator.Profile, upload string,
) (jpeg []byte, problem string, err error) {
	switch {
	case change.OwnPicture:
		jpeg, err = picture.Decode(ctx, base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(upload)))
		if err != nil && ctx.Err() == nil {
			return nil, "This file is not a picture that can be read. Choose another one.", nil
		}
		return jpeg, "", err
	case change.Avatar.Text == nil:
		return nil, "", nil
	}
	switch jpeg, err = s.People.Pictures.Fetch(ctx, of, *change.Avatar.Text); {
	case errors.Is(err, picture.ErrLarge):
		return nil, "The picture at this address is too large. Enter the address of one with at most 2 MiB and 2048 by 2048 " +
			"pixels.", nil
	case errors.Is(err, picture.ErrNone):
		return nil, "This address does not answer with a picture. Enter the address of a PNG, JPEG, GIF or WebP file of at most " +
			"2 MiB and 2048 by 2048 pixels.", nil
	case errors.Is(err, picture.ErrWait):
		return nil, "The picture cannot be fetched right now. Save again in a few seconds.", nil
	}
	return jpeg, "", err
}

// addAvatars sets the avatars of broadcasts. Without the account of a forecaster, the initials of the handle are shown.
func (s *server) addAvatars(ctx context.Context, rows []broadcastRow) {
	ctx, cancel := context.WithTimeout(ctx, titlesTimeout)
	defer cancel()
	var all sync.WaitGroup
	for i := range rows {
		all.Go(func() {
			account, _ := s.accountOf(ctx, rows[i].Handle)
			account.Handle = protocol.Handle(rows[i].Handle)
			rows[i].Avatar = site.AvatarOf(account.Operator)
		})
	}
	all.Wait()
}
