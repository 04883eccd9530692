extension Host {
    /// State with steps, undo and redo. Nil if the service is withheld.
    public var projects: Projects? {
        table(.projects, as: larder_projects.self).map { Projects(host: pointer, table: $0) }
    }

    /// The plugin's projects for this account. It sees no others.
    ///
    /// ```swift
    /// let projects = try host.require(host.projects, .projects)
    /// let id = try projects.create()
    /// try projects.addStep(ProjectStepContent(userData: Array("500000".utf8)), to: id)
    /// ```
    ///
    /// Writes are made at once: they are on the disk when the method returns, and stay if the call then fails. A call
    /// that is repeated after a crash finds the changes of the first time, so put into the user data whatever tells you
    /// how far you came. In a preview, writes throw ``Status/denied``; above the quota, they throw ``Status/limit``.
    public struct Projects {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_projects>

        // MARK: Reading: in any call from `init` on

        /// Returns the ids of the plugin's projects.
        /// - Throws: ``Status/io`` if the projects cannot be read.
        public func list(_ order: ProjectOrder = []) throws(PluginError) -> [String] {
            var ids = larder_project_ids()
            ids.struct_size = UInt32(MemoryLayout<larder_project_ids>.size)
            try Status.check(table.pointee.list(host, order.rawValue, &ids), "projects.list")
            return texts(ids.ids, ids.count)
        }

        /// Returns a project as it is now, or nil if there is none.
        /// - Throws: ``Status/io`` if the project cannot be read or is damaged.
        public func project(
            _ id: String, _ parts: ProjectParts = [.stepIDs, .userData]
        ) throws(PluginError) -> Project? {
            var loan = Loan()
            var view = larder_project()
            view.struct_size = UInt32(MemoryLayout<larder_project>.size)
            let status = table.pointee.fetch(host, loan.text(id), parts.rawValue, &view)
            if status == LARDER_NOT_FOUND { return nil }
            try Status.check(status, "projects.fetch")
            return Project(view, id: id, parts)
        }

        /// Returns a step, or nil if there is none.
        /// - Throws: ``Status/io`` if the step cannot be read or is damaged.
        public func step(_ step: String, of project: String) throws(PluginError) -> ProjectStep? {
            var loan = Loan()
            var view = larder_project_step()
            view.struct_size = UInt32(MemoryLayout<larder_project_step>.size)
            let status = table.pointee.fetch_step(host, loan.text(project), loan.text(step), &view)
            if status == LARDER_NOT_FOUND { return nil }
            try Status.check(status, "projects.fetch_step")
            return ProjectStep(view)
        }

        /// Returns the room that the plugin's projects take. It inspects each of their files.
        /// - Throws: ``Status/io`` if a project cannot be inspected.
        public func usage() throws(PluginError) -> ProjectUsage {
            var view = larder_project_usage()
            view.struct_size = UInt32(MemoryLayout<larder_project_usage>.size)
            try Status.check(table.pointee.usage(host, &view), "projects.usage")
            return ProjectUsage(bytes: view.bytes, quota: view.quota)
        }

        // MARK: Writing: in a processor's calls, and in a loop's `process` and `refresh`

        /// Creates a project without steps and user data.
        /// - Returns: The project's id.
        /// - Throws: ``Status/limit`` above the quota, ``Status/denied`` in a preview, ``Status/io`` if the project
        ///   cannot be written.
        public func create() throws(PluginError) -> String {
            try handedOut("projects.create") { table.pointee.create(host, $0) }
        }

        /// Makes an update, all of it or nothing.
        /// - Returns: The ids of the added steps.
        /// - Throws: ``Status/conflict`` if the project no longer has ``ProjectUpdate/ifModified``, ``Status/notFound``
        ///   if there is no such project, ``Status/invalidArgument`` for a cursor beyond the steps or assets that
        ///   cannot be used, ``Status/limit`` above the quota or for more than 10,000 steps or 16 MiB of user data,
        ///   ``Status/denied`` in a preview, ``Status/io`` if it cannot be written.
        @discardableResult
        public func update(_ project: String, _ update: ProjectUpdate) throws(PluginError) -> [String] {
            if let cursor = update.cursor, cursor < 0 {
                throw PluginError(.invalidArgument, "a project's cursor cannot be \(cursor)")
            }
            // In the ABI 0 means any time, but no project was modified at 0.
            if update.ifModified == 0 { throw PluginError(.conflict, "the project was not modified at 0") }
            var loan = Loan()
            let unwanted = UnsafeMutableBufferPointer<larder_str>.allocate(
                capacity: max(1, update.stepsToDelete.count))
            defer { unwanted.deallocate() }
            for (index, id) in update.stepsToDelete.enumerated() {
                unwanted.initializeElement(at: index, to: loan.text(id))
            }
            let steps = UnsafeMutableBufferPointer<larder_project_new_step>.allocate(
                capacity: max(1, update.stepsToAdd.count))
            defer { steps.deallocate() }
            for (index, step) in update.stepsToAdd.enumerated() {
                steps.initializeElement(at: index, to: loan.view(step))
            }
            var view = larder_project_update(
                struct_size: UInt32(MemoryLayout<larder_project_update>.size),
                add_stride: UInt32(MemoryLayout<larder_project_new_step>.stride),
                cursor: update.cursor.map(Int64.init) ?? Int64(LARDER_PROJECT_CURSOR_STAYS),
                delete_ids: UnsafePointer(unwanted.baseAddress), delete_count: UInt64(update.stepsToDelete.count),
                add: UnsafeRawPointer(steps.baseAddress), add_count: UInt64(update.stepsToAdd.count),
                user_data: loan.bytes(update.userData), if_modified: update.ifModified ?? 0)
            var added = larder_project_ids()
            added.struct_size = UInt32(MemoryLayout<larder_project_ids>.size)
            try Status.check(
                table.pointee.update(host, loan.text(project), &view, &added), "projects.update")
            return texts(added.ids, added.count)
        }

        /// Adds a step after the current one and makes it the current step. Steps that were undone are deleted. The
        /// step is added to the project as it is now, whatever somebody else changed before.
        /// - Parameters:
        ///   - step: The step's content.
        ///   - project: The project's id.
        ///   - userData: Replaces the project's user data in the same update. Nil: the user data stays.
        /// - Returns: The step's id.
        /// - Throws: As ``update(_:_:)``, but never ``Status/conflict``.
        @discardableResult
        public func addStep(
            _ step: ProjectStepContent, to project: String, userData: [UInt8]? = nil
        ) throws(PluginError) -> String {
            var loan = Loan()
            var view = loan.view(step)
            let (id, data) = (loan.text(project), loan.bytes(userData))
            return try handedOut("projects.add_step") { table.pointee.add_step(host, id, &view, data, $0) }
        }

        /// Moves the cursor one step back.
        /// - Returns: False if no step is applied, or there is no such project.
        /// - Throws: ``Status/denied`` in a preview, ``Status/io`` if the project cannot be read or written.
        @discardableResult
        public func undo(_ project: String) throws(PluginError) -> Bool {
            var loan = Loan()
            return try isDone(table.pointee.undo(host, loan.text(project)), "projects.undo")
        }

        /// Moves the cursor one step forward.
        /// - Returns: False if all steps are applied, or there is no such project.
        /// - Throws: As ``undo(_:)``.
        @discardableResult
        public func redo(_ project: String) throws(PluginError) -> Bool {
            var loan = Loan()
            return try isDone(table.pointee.redo(host, loan.text(project)), "projects.redo")
        }

        /// Copies a project with its steps, cursor, user data and assets.
        /// - Returns: The copy's id.
        /// - Throws: ``Status/notFound`` if there is no such project, ``Status/limit`` above the quota,
        ///   ``Status/denied`` in a preview, ``Status/io`` if it cannot be copied.
        public func duplicate(_ project: String) throws(PluginError) -> String {
            var loan = Loan()
            let id = loan.text(project)
            return try handedOut("projects.duplicate") { table.pointee.duplicate(host, id, $0) }
        }

        /// Removes a project with everything in it, for good.
        /// - Returns: False if there is no such project.
        /// - Throws: ``Status/denied`` in a preview, ``Status/io`` if it cannot be removed.
        @discardableResult
        public func remove(_ project: String) throws(PluginError) -> Bool {
            var loan = Loan()
            return try isDone(table.pointee.remove(host, loan.text(project)), "projects.remove")
        }

        private func isDone(_ status: larder_status, _ function: StaticString) throws(PluginError) -> Bool {
            if status == LARDER_NOT_FOUND { return false }
            try Status.check(status, function)
            return true
        }

        private func handedOut(
            _ function: StaticString, _ body: (UnsafeMutablePointer<larder_str>) -> larder_status
        ) throws(PluginError) -> String {
            var id = larder_str()
            try Status.check(body(&id), function)
            return Text(unsafe: id).copied()
        }
    }
}

extension Loan {
    fileprivate mutating func view(_ step: ProjectStepContent) -> larder_project_new_step {
        larder_project_new_step(
            struct_size: UInt32(MemoryLayout<larder_project_new_step>.size), reserved: 0,
            user_data: bytes(step.userData), assets_source: text(step.assetsSource))
    }
}
