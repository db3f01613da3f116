// Package share manages short links to calls, markets and operators.
package share
