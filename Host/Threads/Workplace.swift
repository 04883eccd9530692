/// The place where the work of the current task, and of the tasks that it creates, runs.
public enum Workplace {
    /// The executor that runs all of the work, including blocking work, one piece after the other, so that a test can
    /// repeat the order by a seed. Nil except in such a test: tasks then run where Swift runs them, and blocking work
    /// has threads of its own.
    @TaskLocal public static var single: (any TaskExecutor)?
}
