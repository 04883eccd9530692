/// Where the work of the current task, and of the tasks that it makes, runs.
public enum Workplace {
    /// Runs all of it, also what blocks, one thing after the other, so that a test can repeat the order by a seed. Nil, as always but in
    /// such a test: tasks run where Swift runs them, and what blocks has threads of its own.
    @TaskLocal public static var single: (any TaskExecutor)?
}
