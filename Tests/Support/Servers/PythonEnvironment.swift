import FoundationEssentials
import Glibc

/// The virtual environment with the servers from PyPI: `LARDER_TEST_VENV`, or else `.build/test-venv`.
enum PythonEnvironment {
    /// Returns the environment's folder.
    /// - Parameter program: a program that must be in the environment.
    /// - Throws: `SetupError` if the program is not installed.
    static func holding(_ program: String) throws -> String {
        let folder = ProcessInfo.processInfo.environment["LARDER_TEST_VENV"] ?? "\(Build.root)/.build/test-venv"
        guard access("\(folder)/bin/\(program)", X_OK) == 0 else {
            throw SetupError(
                "\(program) is not installed in \(folder): ./Tests/run makes that virtual environment; "
                    + "LARDER_TEST_VENV names another one")
        }
        return folder
    }
}
