// Package awserr says what an error of AWS means and what an operator can do about it.
//
// ClassOf sorts errors by what the caller may conclude: whether the call may have had its effect,
// and whether it is of use to repeat it. Explain makes the sentence for people.
package awserr
