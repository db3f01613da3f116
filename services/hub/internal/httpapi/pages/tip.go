package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"rsc.io/qr"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const tipPath = "/tip/"

// errNoTips is the error of the tip page of an operator without payouts, for clients that prefer JSON.
var errNoTips = apperr.New(apperr.NotFound, "not_found", "the operator has no payout address; there is nothing to tip")

type tipPage struct {
	site.Layout
	Handle, Name string // Name is empty if there is no operator with the handle
	Address      string // payout address; empty: none
	Verified     bool   // the identity provider verified that the wallet is the operator's
	Chain, USDC  string
	ChainID      int64
	QRSize       int
	QRPath       template.HTMLAttr // attribute d of the dark modules
}

// tip handles GET /tip/{handle}, which shows the payout address of an operator. The page moves no money. Without a payout address
// it has the status 404.
func (s *server) tip(c echo.Context) error {
	p := tipPage{Layout: s.NewLayout(c, "Tip", "", ""), Handle: strings.ToLower(c.Param("handle"))}
	p.Unlisted = true
	account, err := s.accountOf(c.Request().Context(), c.Param("handle"))
	if err != nil && apperr.Of(err).Kind != apperr.NotFound {
		return err
	}
	if err == nil {
		if isFormer(c, account) {
			return redirectFormer(c, account)
		}
		p.Handle, p.Name = string(account.Handle), format.NameOf(account.DisplayName, string(account.Handle))
		p.Layout.Title = "Tip @" + p.Handle + " · Signalcast"
		if p.Address, err = s.People.Payouts.AddressOf(c.Request().Context(), account); err != nil {
			return err
		}
	}
	if p.Address == "" {
		if site.WantsJSON(c.Request()) {
			if p.Name == "" {
				return operator.ErrUnknown
			}
			return errNoTips
		}
		c.Response().Header().Set("Cache-Control", "no-store")
		return s.Render(c, http.StatusNotFound, "tip", p)
	}
	claims, err := s.People.Claims.Claims(c.Request().Context(), account.ID)
	if err != nil {
		return err
	}
	for i := range claims {
		p.Verified = p.Verified || strings.EqualFold(claims[i].Identity, p.Address)
	}
	code, err := qr.Encode(p.Address, qr.M)
	if err != nil {
		return fmt.Errorf("QR code of a payout address: %w", err)
	}
	money := s.People.Payouts.Money
	p.Chain, p.ChainID, p.USDC = money.Label, money.ChainID, money.USDC
	p.QRSize, p.QRPath = code.Size+2*qrBorder, qrPath(code)
	return s.Render(c, http.StatusOK, "tip", p)
}

// qrBorder is the width of the light border of a QR code in modules, as ISO/IEC 18004 requires.
const qrBorder = 4

// qrPath returns the attribute d of an SVG path with the dark modules of a code: one rectangle for each run in a row.
func qrPath(code *qr.Code) template.HTMLAttr {
	var b strings.Builder
	b.WriteString(`d="`)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", from+qrBorder, y+qrBorder, x-from, x-from)
			}
		}
	}
	b.WriteByte('"')
	return template.HTMLAttr(b.String()) //nolint:gosec // made of numbers
}
