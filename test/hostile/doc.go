// Package hostile holds what people may write who mean harm to those who read it.
package hostile
