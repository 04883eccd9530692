import FoundationEssentials
import Glibc

/// The virtual environment that servers from PyPI are installed in: `LARDER_TEST_VENV`, else `.build/test-venv`.
enum PythonEnvironment {
    /// The environment's folder.
    /// - Parameter program: a program that has to be in it.
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
