package pages

import (
	"image"
	"image/color"
	"image/draw"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	qr "github.com/piglig/go-qr"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// chain, chainID and usdc are the settings of payouts of the shared system.
const (
	chain, chainID = "devnet", "31337"
	usdc           = "0x3333333333333333333333333333333333333333"
)

// TestTipPage follows the published tipUrl of an operator. The page must show the payout address as text and as a QR code that a
// decoder reads, in a browser with and without JavaScript. A suspended operator is not eligible: the payout record and the page then have
// no address.
func TestTipPage(t *testing.T) {
	t.Parallel()
	s := system(t)
	o := s.NewOperator(t)
	payout := s.Hub + "/api/network/payout/" + o.Handle
	read(t, payout).Expect(stack.JSON{"eligible": false})
	none := s.Hub + "/tip/" + o.Handle
	if a := stack.Send(t, http.MethodGet, none, stack.Header("Accept", "text/html")).Require(http.StatusNotFound); !a.ShowsText("has no address for tips") {
		t.Errorf("tip page without a payout address: %s", a)
	}
	address := stack.NewWallet()
	o.LinkWallet(t, address)
	o.ClaimIdentity(t, address, o.Session(t)).Require(http.StatusOK)
	o.Send(t, "/api/streamer/profile", http.StatusOK, o.Session(t), stack.JSON{"payoutAddress": address})
	record := read(t, payout)
	record.Expect(stack.JSON{"eligible": true, "chainLabel": chain, "usdcAddress": usdc})
	published, page := record.Text("payoutAddress"), record.Text("tipUrl")
	if !strings.EqualFold(published, address) {
		t.Errorf("the payout address is %s; want %s", published, address)
	}
	address = published // with the checksum of EIP-55

	a := read(t, page, stack.Header("Accept", "text/html"))
	if !a.Contains(`<meta name="robots" content="noindex">`) {
		t.Errorf("%s has no noindex", page)
	}
	if got := decodeQR(t, string(a.Body)); got != address {
		t.Errorf("the QR code of %s contains %q; want %q", page, got, address)
	}
	t.Run("browsers", func(t *testing.T) {
		atBothSizes(t, func(t *testing.T, size browser.Size) {
			b := browser.Open(t, size)
			b.Visit(page, http.StatusOK)
			b.Shows("main", "@"+o.Handle, address, "linked this wallet", chain, chainID, usdc, "never moves money")
			b.RequireAccessible()
			b.RequireFits()
			b.Await("#tip-copy", "Copy")
			b.RunFirst(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`)
			b.Visit(page, http.StatusOK)
			b.Click("#tip-copy")
			b.Await("#tip-message", "Address copied.")
			if got := browser.Eval[string](b, `window.copied`); got != address {
				t.Errorf("the button copied %q; want %q", got, address)
			}
			b.RequireNoProblems()
			plain := browser.Open(t, size)
			plain.DisableScripts()
			plain.Visit(page, http.StatusOK)
			if got := plain.Text("#tip-address"); got != address {
				t.Errorf("address without JavaScript: %q; want %q", got, address)
			}
			if n := plain.Count("#tip-copy:not([hidden])"); n != 0 {
				t.Error("the copy button is visible without JavaScript")
			}
			plain.RequireNoProblems()
		})
	})

	o.SetStreamer(t, "suspended")
	stack.Eventually(t, browser.Within, "a payout record without an address", func() bool {
		return read(t, payout).Value("eligible") == false
	})
	if a := stack.Send(t, http.MethodGet, page, stack.Header("Accept", "text/html")).Require(http.StatusNotFound); a.Contains(address) {
		t.Errorf("the tip page of a suspended operator shows the address: %s", a)
	}
	stack.Send(t, http.MethodGet, page, stack.Header("Accept", "application/json")).RequireError(http.StatusNotFound, "not_found")
	unknown := stack.Send(t, http.MethodGet, s.Hub+"/tip/nobody_of_that_name", stack.Header("Accept", "text/html")).Require(http.StatusNotFound)
	if !unknown.ShowsText("There is no forecaster with this name.") {
		t.Errorf("tip page of an unknown operator: %s", unknown)
	}
}

var (
	qrSize = regexp.MustCompile(`class="qr" viewBox="0 0 (\d+) `)
	qrRun  = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1`)
)

// decodeQR draws the QR code of a page and returns the text that a decoder reads from it.
func decodeQR(t *testing.T, page string) string {
	t.Helper()
	size := qrSize.FindStringSubmatch(page)
	if size == nil {
		t.Fatalf("no QR code in %s", page)
	}
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const scale = 8
	side := number(size[1]) * scale
	img := image.NewGray(image.Rect(0, 0, side, side))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	for _, run := range qrRun.FindAllStringSubmatch(page[strings.Index(page, `class="qr"`):], -1) {
		x, y, n := number(run[1])*scale, number(run[2])*scale, number(run[3])*scale
		draw.Draw(img, image.Rect(x, y, x+n, y+scale), image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	text, err := qr.Decode(img)
	if err != nil {
		t.Fatalf("decode the QR code: %v", err)
	}
	return text
}
