package reconciler

// What tests of whole installations need to know.
const SecondScan = secondScan

// LaunchBudget is how many machines may come for one attempt.
func LaunchBudget(count int) int { return launchBudget(count) }
