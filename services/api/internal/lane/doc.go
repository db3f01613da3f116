// Package lane tells where markets belong (contract 4.16.3). The venue's tags and the
// words of a title decide; an admin's word beats both, and stays.
package lane
